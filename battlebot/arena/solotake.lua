-- Takes a lock, and with it what was asked for so far; where another has it, leaves a wish.
-- KEYS[1] lock, KEYS[2] asked, ARGV[1] our token, ARGV[2] ms that the lock lasts, ARGV[3] ms that a wish lasts.
-- Answers 1 where the lock is ours now, else 0.
local taken = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
-- ours already: this call was made before, and its answer was lost
if taken or redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[2])
  return 1
end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return 0
