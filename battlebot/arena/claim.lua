-- Gives a name to a connection, even if another has it.
-- KEYS[1] hash of names, KEYS[2] live matches of the name; ARGV[1] name, ARGV[2] what stands for the connection
-- Returns what stood for the connection that had the name, or '', then the matches.
local before = redis.call('HGET', KEYS[1], ARGV[1]) or ''
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {before, unpack(redis.call('SMEMBERS', KEYS[2]))}
