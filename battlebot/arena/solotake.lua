-- Takes a lock and the request for its work, or leaves a request if another has the lock.
-- KEYS[1] lock, KEYS[2] asked, ARGV[1] our token, ARGV[2] ms that the lock lasts, ARGV[3] ms that a request lasts.
-- Returns 1 if the lock is ours now, else 0.
local taken = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
-- ours already: an earlier call took it, and its answer was lost
if taken or redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[2])
  return 1
end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return 0
