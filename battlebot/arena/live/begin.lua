-- Takes the tickets of a match's bots out of their queue and begins the match, all or nothing. A match that is over as
-- it begins, because it could not be played, is put on the finished list.
-- KEYS: those named below, then each ticket's mark, then the sets of live matches that get this one: first those of
-- names that play one match at a time, then those of addresses at which stateless bots are asked.
-- ARGV: those named below, then each ticket, then for each address how many matches its set may have with this one ('' if
-- that does not matter), then pairs of channel and message.
-- Returns 1, also if the match has begun before; 0 if it is too late, or a ticket neither waits nor is held by `holder`;
-- 0, having freed the held tickets, if a name already plays (another connection of it has come), or an address is full.
local queue, match, deadlines, queues, finished, end_sequence = unpack(KEYS, 1, 6)
-- due in ms, or '' if the match is over
local id, document, due_ms, mark_s = unpack(ARGV, 1, 4)
-- the ticket that holds the others, or ''; not after this time (ms), or '0'
local holder, queue_name, not_after_ms = unpack(ARGV, 5, 7)
-- how many tickets, sets and, of these, sets of names there are; what the key of a bot's newest match begins with
local tickets, sets, names, newest = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11]
local marks_from, sets_from, addresses_from = 7, 7 + tickets, 7 + tickets + names
local tickets_from, most_from, messages_from = 12, 12 + tickets, 12 + tickets + sets - names

local function is_held(mark) return holder ~= '' and redis.call('GET', mark) == 'held:' .. holder end

local function free_the_held()
  for i = marks_from, sets_from - 1 do
    if is_held(KEYS[i]) then redis.call('DEL', KEYS[i]) end
  end
end

if redis.call('EXISTS', match) == 1 then return 1 end
local clock = redis.call('TIME')
if not_after_ms ~= '0' and clock[1] * 1000 + clock[2] / 1000 > tonumber(not_after_ms) then return 0 end
for i = 0, tickets - 1 do
  local mark, ticket = KEYS[marks_from + i], ARGV[tickets_from + i]
  if not is_held(mark) and not redis.call('ZSCORE', queue, ticket) then return 0 end
end
for i = sets_from, addresses_from - 1 do
  for _, other in ipairs(redis.call('SMEMBERS', KEYS[i])) do
    if redis.call('ZSCORE', deadlines, other) then
      free_the_held()
      return 0
    end
  end
end
for i = 0, sets - names - 1 do
  local most = tonumber(ARGV[most_from + i])
  if most and redis.call('SCARD', KEYS[addresses_from + i]) >= most then
    free_the_held()
    return 0
  end
end
for i = 0, tickets - 1 do
  local mark, ticket = KEYS[marks_from + i], ARGV[tickets_from + i]
  redis.call('ZREM', queue, ticket)
  redis.call('SET', mark, id, 'EX', mark_s)
  redis.call('SET', newest .. string.match(ticket, '^[^/]*/[^/]*/(.*)$'), id, 'EX', 86400)
end
if redis.call('EXISTS', queue) == 0 then redis.call('SREM', queues, queue_name) end
redis.call('HSET', match, 'rev', 0, 'doc', document)
if due_ms ~= '' then
  redis.call('ZADD', deadlines, due_ms, id)
  for i = sets_from, sets_from + sets - 1 do
    redis.call('SADD', KEYS[i], id)
    redis.call('EXPIRE', KEYS[i], 86400)
  end
else
  -- numbered as by a commit that ends a match
  local last = tonumber(redis.call('GET', end_sequence) or '0')
  local seq = string.format('%.0f', math.max(last + 1, clock[1] * 1000000 + clock[2]))
  redis.call('SET', end_sequence, seq)
  redis.call('HSET', match, 'seq', seq)
  redis.call('ZADD', finished, seq, id)
end
for i = messages_from, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
return 1
