-- Releases a lock if it is still ours. KEYS[1] lock, KEYS[2] asked, ARGV[1] our token.
-- Returns 1 if the work has been asked for meanwhile, else 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return redis.call('EXISTS', KEYS[2])
