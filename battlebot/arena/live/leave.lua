-- Takes a ticket out of its queue. Returns 1 if it was there, else 0.
local queue, queues = unpack(KEYS)
local ticket, queue_name = unpack(ARGV)
local left = redis.call('ZREM', queue, ticket)
if redis.call('EXISTS', queue) == 0 then redis.call('SREM', queues, queue_name) end
return left
