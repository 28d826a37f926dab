-- Releases a worker's lease on asking a match's stateless bots.
-- Returns 1 if somebody tried to take the lease meanwhile: there may be something to ask again. Else 0.
local lease, request, leases = unpack(KEYS)
local token, match_id = unpack(ARGV)
if redis.call('GET', lease) ~= token then return 0 end
redis.call('DEL', lease)
redis.call('ZREM', leases, match_id)
return redis.call('DEL', request)
