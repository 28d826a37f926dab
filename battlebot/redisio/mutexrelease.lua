-- Releases a lock if it is still ours. Returns 1 if its work has been asked for meanwhile, else 0.
local lock, asked, token = KEYS[1], KEYS[2], ARGV[1]
if redis.call('GET', lock) == token then redis.call('DEL', lock) end
return redis.call('EXISTS', asked)
