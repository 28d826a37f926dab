-- Takes the lease on asking a match's stateless bots, or leaves a request if it is taken.
-- KEYS[1] lease, KEYS[2] request, KEYS[3] sorted set of leases, KEYS[4] when the sweep sent for it
-- ARGV[1] token, ARGV[2] match id, ARGV[3] ms
-- Returns 1 if the lease is the caller's now, else 0.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then
  redis.call('SET', KEYS[2], '1', 'PX', 60000)
  return 0
end
redis.call('DEL', KEYS[2], KEYS[4])
local clock = redis.call('TIME')
redis.call('ZADD', KEYS[3], clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[3], ARGV[2])
return 1
