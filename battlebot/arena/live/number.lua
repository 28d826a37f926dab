-- Gives out the next board number: larger than all before, even if Redis loses everything, as it is never below the time.
-- Returns the number, ms since the epoch or a little more.
local last = KEYS[1]
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
local number = string.format('%.0f', math.max(tonumber(redis.call('GET', last) or '0') + 1, now_ms))
redis.call('SET', last, number)
return number
