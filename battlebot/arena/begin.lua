-- Takes the tickets of a match's bots out of their queue and begins the match, all or nothing.
-- KEYS[1] queue, KEYS[2] match hash, KEYS[3] deadlines, KEYS[4] set of queues, KEYS[5..] the tickets' marks,
-- then sets of live matches: those of names that play one match at a time, then others
-- ARGV[1] match id, ARGV[2] document, ARGV[3] due in ms, ARGV[4] seconds a ticket's mark is kept,
-- ARGV[5] the ticket that holds the others, or '', ARGV[6] queue's name, ARGV[7] not after (ms), or 0,
-- ARGV[8] how many of the sets there are, ARGV[9] what the key of a bot's newest match begins with,
-- ARGV[10] how many of the sets are of names, then one ticket for each mark, then pairs of channel and message
-- Returns 1, also if the match has begun before; 0 if it is too late, or a ticket neither waits nor is held by ARGV[5];
-- 0, having freed the held tickets, if a name already plays (another connection of it has come).
local tickets = #KEYS - 4 - tonumber(ARGV[8])
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local clock = redis.call('TIME')
if ARGV[7] ~= '0' and clock[1] * 1000 + clock[2] / 1000 > tonumber(ARGV[7]) then return 0 end
for i = 1, tickets do
  local held = ARGV[5] ~= '' and redis.call('GET', KEYS[4 + i]) == 'held:' .. ARGV[5]
  if not held and not redis.call('ZSCORE', KEYS[1], ARGV[10 + i]) then return 0 end
end
for i = 5 + tickets, 4 + tickets + tonumber(ARGV[10]) do
  for _, other in ipairs(redis.call('SMEMBERS', KEYS[i])) do
    if redis.call('ZSCORE', KEYS[3], other) then
      for j = 1, tickets do
        if redis.call('GET', KEYS[4 + j]) == 'held:' .. ARGV[5] then redis.call('DEL', KEYS[4 + j]) end
      end
      return 0
    end
  end
end
for i = 1, tickets do
  redis.call('ZREM', KEYS[1], ARGV[10 + i])
  redis.call('SET', KEYS[4 + i], ARGV[1], 'EX', ARGV[4])
  redis.call('SET', ARGV[9] .. string.match(ARGV[10 + i], '^[^/]*/[^/]*/(.*)$'), ARGV[1], 'EX', 86400)
end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SREM', KEYS[4], ARGV[6]) end
redis.call('HSET', KEYS[2], 'rev', 0, 'doc', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
for i = 5 + tickets, #KEYS do
  redis.call('SADD', KEYS[i], ARGV[1])
  redis.call('EXPIRE', KEYS[i], 86400)
end
for i = 11 + tickets, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
return 1
