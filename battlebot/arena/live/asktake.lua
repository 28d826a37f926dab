-- Takes the lease on asking a match's stateless bots, or leaves a request if it is taken.
-- `sent_for` says when the sweep sent for it. Returns 1 if the lease is the caller's now, else 0.
local lease, request, leases, sent_for = unpack(KEYS)
local token, match_id, lasts_ms = unpack(ARGV)
if not redis.call('SET', lease, token, 'NX', 'PX', lasts_ms) then
  -- given before the clock of Redis was set back, to a worker that may be dead, it would last longer by as much
  if redis.call('PTTL', lease) > tonumber(lasts_ms) then redis.call('PEXPIRE', lease, lasts_ms) end
  redis.call('SET', request, '1', 'PX', 60000)
  return 0
end
redis.call('DEL', request, sent_for)
local clock = redis.call('TIME')
redis.call('ZADD', leases, clock[1] * 1000 + math.floor(clock[2] / 1000) + lasts_ms, match_id)
return 1
