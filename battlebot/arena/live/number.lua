-- Gives out the next board number: larger than all before, even if Redis loses everything, as it is never below the time.
-- Returns the number, tenths of a second since the beginning of 2026 or a little more: in 32 bits until 2032.
local last = KEYS[1]
local clock = redis.call('TIME')
local now_ds = math.floor((clock[1] - 1767225600) * 10 + clock[2] / 100000)
local number = string.format('%.0f', math.max(tonumber(redis.call('GET', last) or '0') + 1, now_ds))
redis.call('SET', last, number)
return number
