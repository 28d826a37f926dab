-- Releases a worker's lease on asking a match's stateless bots.
-- KEYS[1] lease, KEYS[2] request, KEYS[3] sorted set of leases; ARGV[1] token, ARGV[2] match id
-- Returns 1 if somebody tried to take the lease meanwhile: there may be something to ask again. Else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[2])
return redis.call('DEL', KEYS[2])
