-- Takes the tickets of a match's bots out of their queue and makes the match, or does nothing at all.
-- KEYS[1] queue, KEYS[2] match hash, KEYS[3] deadlines, KEYS[4..] the tickets' marks
-- ARGV[1] match id, ARGV[2] document, ARGV[3] due in ms, ARGV[4] seconds a ticket's mark is kept,
-- ARGV[5] the ticket that holds the others, or '', then one ticket for each mark, then pairs of channel and message
-- Answers 1; 0 where a ticket neither waits nor is held by that ticket any more.
local tickets = #KEYS - 3
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
for i = 1, tickets do
  local held = ARGV[5] ~= '' and redis.call('GET', KEYS[3 + i]) == 'held:' .. ARGV[5]
  if not held and not redis.call('ZSCORE', KEYS[1], ARGV[5 + i]) then return 0 end
end
for i = 1, tickets do
  redis.call('ZREM', KEYS[1], ARGV[5 + i])
  redis.call('SET', KEYS[3 + i], ARGV[1], 'EX', ARGV[4])
end
redis.call('HSET', KEYS[2], 'rev', 0, 'doc', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
for i = 6 + tickets, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
return 1
