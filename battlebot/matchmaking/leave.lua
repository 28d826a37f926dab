-- Takes a ticket out of its queue. KEYS[1] queue, KEYS[2] set of queues, ARGV[1] ticket, ARGV[2] queue's name.
-- Returns 1 if it was there, else 0.
local left = redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[2]) end
return left
