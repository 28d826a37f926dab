-- Frees a connection's name, if it still has it. KEYS[1] hash of names, ARGV[1] name, ARGV[2] the connection.
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return redis.call('HDEL', KEYS[1], ARGV[1]) end
return 0
