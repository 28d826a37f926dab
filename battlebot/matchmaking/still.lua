-- Checks that there is nothing new for bots that wait in a queue: all their tickets are there, so that no match has begun
-- for them, and no bot has an empty seat.
-- KEYS[1] queue, KEYS[2] set of queues
-- ARGV[1] queue's name, ARGV[2] what the key of a bot's empty seats begins with, then the tickets
-- Returns 1 if so, or 0 if `again.lua` must be called.
redis.call('SADD', KEYS[2], ARGV[1])
local seats = {}
for i = 3, #ARGV do seats[#seats + 1] = ARGV[2] .. string.match(ARGV[i], '^[^/]*/[^/]*/(.*)$') end
if redis.call('EXISTS', unpack(seats)) > 0 then return 0 end
for _, since in ipairs(redis.call('ZMSCORE', KEYS[1], unpack(ARGV, 3))) do
  if not since then return 0 end
end
return 1
