-- Gives a name to a connection, even if another has it.
-- Returns what stood for the connection that had the name, or '', then the name's live matches.
local names, matches_of_name = unpack(KEYS)
local name, connection = unpack(ARGV)
local before = redis.call('HGET', names, name) or ''
redis.call('HSET', names, name, connection)
return {before, unpack(redis.call('SMEMBERS', matches_of_name))}
