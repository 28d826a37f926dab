-- Checks that there is nothing new for bots that wait in a queue: all their tickets are there, so that no match has begun
-- for them, and no bot has an empty seat.
-- ARGV: the queue's name, what the key of a bot's empty seats begins with, then the tickets.
-- Returns 1 if so, or 0 if `again.lua` must be called.
local queue, queues = unpack(KEYS)
local queue_name, empty_seats = ARGV[1], ARGV[2]
local seats = {}
for i = 3, #ARGV do seats[#seats + 1] = empty_seats .. string.match(ARGV[i], '^[^/]*/[^/]*/(.*)$') end
if redis.call('EXISTS', unpack(seats)) > 0 then return 0 end
for _, since in ipairs(redis.call('ZMSCORE', queue, unpack(ARGV, 3))) do
  if not since then return 0 end
end
redis.call('SADD', queues, queue_name)
return 1
