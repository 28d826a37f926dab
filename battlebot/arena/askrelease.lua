-- A worker asks a match's stateless bots no more.
-- KEYS[1] lease, KEYS[2] wish, KEYS[3] sorted set of leases; ARGV[1] token, ARGV[2] match id
-- Answers 1 where somebody came meanwhile in vain: there may be something to ask again.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[2])
return redis.call('DEL', KEYS[2])
