-- Frees a connection's name, if it still has it. Returns 1 if so, else 0.
local names, name, connection = KEYS[1], ARGV[1], ARGV[2]
if redis.call('HGET', names, name) == connection then return redis.call('HDEL', names, name) end
return 0
