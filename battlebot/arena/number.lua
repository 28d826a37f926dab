-- Gives out the next board number: larger than all before, even if Redis loses everything, as it is never below the time.
-- KEYS[1] the last number. Returns the number, ms since the epoch or a little more.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local number = string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[1]) or '0') + 1, now))
redis.call('SET', KEYS[1], number)
return number
