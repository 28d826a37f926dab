-- Takes a lock and the request for its work, or leaves a request if another has the lock: it lasts as long as that.
-- Returns 1 if the lock is ours now, else 0.
local lock, asked = unpack(KEYS)
local token, lasts_ms = unpack(ARGV)
local taken = redis.call('SET', lock, token, 'NX', 'PX', lasts_ms)
-- ours already: an earlier call took it, and its answer was lost
if taken or redis.call('GET', lock) == token then
  redis.call('DEL', asked)
  return 1
end
-- taken before the clock of Redis was set back, by one that may be dead, it would last longer by as much
if redis.call('PTTL', lock) > tonumber(lasts_ms) then redis.call('PEXPIRE', lock, lasts_ms) end
redis.call('SET', asked, '1', 'PX', lasts_ms)
return 0
