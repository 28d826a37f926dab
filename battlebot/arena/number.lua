-- The next number of a board: larger than every one before, also over the loss of all of Redis: never below the time.
-- KEYS[1] the last number. Answers the number, ms since the epoch or a little more.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local number = string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[1]) or '0') + 1, now))
redis.call('SET', KEYS[1], number)
return number
