-- Puts a bot's ticket into a queue, unless a seat or a match is there for the bot; or takes the tickets of the longest
-- waiting others, or of the one that it has met least recently.
-- KEYS[1] queue, KEYS[2] set of queues, KEYS[3] the bot's empty seats, KEYS[4] the ticket's mark,
-- KEYS[5] pairing asked for, KEYS[6] whom the bot has met, KEYS[7] pairing under way, KEYS[8] the bot's newest match,
-- KEYS[9] deadlines of live matches, KEYS[10] nodes and their heartbeats, KEYS[11] live matches of the bot's name,
-- and for a stateless bot KEYS[12], set if it was made unavailable
-- ARGV[1] ticket, ARGV[2] waiting since (ms), ARGV[3] bot, ARGV[4] queue's name, ARGV[5] how many others are wanted
-- (-1: a task does the pairing), ARGV[6] 1 to look for empty seats, ARGV[7] what a mark's key begins with,
-- ARGV[8] ms for which taken tickets are held, ARGV[9] 1 at a door where a name plays one match at a time: of those who
-- wait, the least recently met one is taken (if one is wanted),
-- ARGV[10] what the key of whom a bot has met begins with, ARGV[11] 1 to hold back a bot that is in a match,
-- ARGV[12] what a mailbox's name begins with
-- Returns {'seat', match...}, {'match', match}, {'hold', match}, {'take', ticket...} or
-- {'wait', 1 if pairing must be asked for now, 1 if somebody was left out whose node may be dead}.
if KEYS[12] and redis.call('EXISTS', KEYS[12]) == 1 then return {'wait', 0, 0} end
if ARGV[6] == '1' then
  local seats = redis.call('SMEMBERS', KEYS[3])
  if #seats > 0 then return {'seat', unpack(seats)} end
end
local mark = redis.call('GET', KEYS[4])
if mark then
  -- held by another bot whose match is being made: its letter will come, or the mark expire
  if string.sub(mark, 1, 5) == 'held:' then return {'wait', 0, 0} end
  return {'match', mark}
end
if ARGV[6] == '1' and ARGV[9] == '1' then
  -- an earlier connection of the name was taken for a match that has only now begun: this one takes the seat
  local seats = redis.call('SMEMBERS', KEYS[11])
  if #seats > 0 then return {'seat', unpack(seats)} end
end
if ARGV[11] == '1' then
  local newest = redis.call('GET', KEYS[8])
  if newest and redis.call('ZSCORE', KEYS[9], newest) then return {'hold', newest} end
end
redis.call('SADD', KEYS[2], ARGV[4])
local wanted = tonumber(ARGV[5])
if wanted < 0 then
  redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
  -- a bot that waits alone needs no pairing
  local ask = redis.call('ZCARD', KEYS[1]) > 1 and redis.call('SET', KEYS[5], '1', 'NX', 'PX', 2000)
  -- a pairing under way sees the request when it has released its lock
  return {'wait', ask and 1 - redis.call('EXISTS', KEYS[7]) or 0, 0}
end
local function bot_of(ticket) return string.match(ticket, '^[^/]*/[^/]*/(.*)$') end
local nodes = {}
local function is_there(ticket)
  -- a node that reads no mail may be dead; one without a heartbeat has been swept already, or is no node
  local node = string.match(ticket, '^[^/]*')
  if nodes[node] == nil then
    local beat = redis.call('ZSCORE', KEYS[10], node)
    local reads = beat and redis.call('PUBSUB', 'NUMSUB', ARGV[12] .. node)[2] > 0
    nodes[node] = not beat or reads
  end
  return nodes[node]
end
local strangers = ARGV[9] == '1' and wanted == 1
local others, from, seen, met_at, left_out = {}, 0, {[ARGV[3]] = true}, nil, 0
while #others < wanted or strangers and from < 1000 do
  local page = redis.call('ZRANGE', KEYS[1], from, from + 99)
  if #page == 0 then break end
  for _, other in ipairs(page) do
    local bot = bot_of(other)
    if not seen[bot] and not is_there(other) then
      left_out = 1
    elseif strangers and not seen[bot] then
      local at = tonumber(redis.call('ZSCORE', KEYS[6], bot) or '0')
      if not met_at or at < met_at then others, met_at = {other}, at end
      seen[bot] = true
    elseif not seen[bot] and #others < wanted then
      seen[bot] = true
      others[#others + 1] = other
    end
  end
  from = from + 100
end
if #others < wanted then
  redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
  return {'wait', 0, left_out}
end
redis.call('ZREM', KEYS[1], ARGV[1], unpack(others))
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[4]) end
for _, ticket in ipairs({ARGV[1], unpack(others)}) do
  redis.call('SET', ARGV[7] .. ticket, 'held:' .. ARGV[1], 'PX', ARGV[8])
end
if strangers then
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  for _, pair in ipairs({{KEYS[6], bot_of(others[1])}, {ARGV[10] .. bot_of(others[1]), ARGV[3]}}) do
    redis.call('ZADD', pair[1], now, pair[2])
    redis.call('ZREMRANGEBYRANK', pair[1], 0, -1001)
    redis.call('EXPIRE', pair[1], 604800)
  end
end
return {'take', unpack(others)}
