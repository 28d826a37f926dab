-- Takes a match off all lists, and keeps what is held of it under other keys, at which nobody goes on with it.
-- KEYS: its hash, its turns, where these are kept, the set of those set aside, then the lists it may be on, then the sets.
-- ARGV: its id, how many lists there are.
-- Returns 1; also if it was set aside before.
local match, turns, kept_match, kept_turns, set_aside = unpack(KEYS, 1, 5)
local id, lists = unpack(ARGV)
if redis.call('EXISTS', match) == 1 then redis.call('RENAME', match, kept_match) end
if redis.call('EXISTS', turns) == 1 then redis.call('RENAME', turns, kept_turns) end
redis.call('SADD', set_aside, id)
for i = 6, #KEYS do redis.call(i < 6 + lists and 'ZREM' or 'SREM', KEYS[i], id) end
return 1
