-- Puts a bot's ticket into a queue, unless a seat or a match is there for the bot; or takes the tickets of the longest
-- waiting others, or of the one that it has met least recently, a connected one if there is one.
-- Returns {'seat', match...}, {'match', match}, {'hold', match}, {'take', ticket...} or
-- {'wait', 1 if pairing must be asked for now, 1 if somebody was left out whose node may be dead}.
local queue, queues, empty_seats, own_mark, newest, deadlines, nodes = unpack(KEYS, 1, 7)
-- whom the bot has met, live matches of its name; set if it is stateless and was made unavailable (else no such key)
local met, matches_of_name, switched_off = KEYS[8], KEYS[9], KEYS[12]
local pairing_asked, pairing_under_way = KEYS[10], KEYS[11]
-- how many others are `wanted` (-1: a task does the pairing); for how many ms taken tickets are held
local ticket, since_ms, bot, queue_name, wanted, held_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
-- `by_name`: at a door where a name plays one match at a time; if one is wanted, the least recently met one is taken
local looks_for_seats, by_name, holds_back_if_playing = ARGV[7] == '1', ARGV[8] == '1', ARGV[9] == '1'
-- what the keys of marks, of whom a bot has met, and the names of mailboxes begin with
local mark_of, met_of, mailbox_of = ARGV[10], ARGV[11], ARGV[12]
-- a match for which the bot is held back, even if it has ended, or ''; the node in the tickets of stateless bots
local hold_for, stateless = ARGV[13], ARGV[14]

local function bot_of(other) return string.match(other, '^[^/]*/[^/]*/(.*)$') end
local function node_of(other) return string.match(other, '^[^/]*') end

local is_alive = {}
local function is_there(other)
  -- a node that reads no mail may be dead; one without a heartbeat has been swept already, or is no node
  local node = node_of(other)
  if is_alive[node] == nil then
    local beat = redis.call('ZSCORE', nodes, node)
    local reads = beat and redis.call('PUBSUB', 'NUMSUB', mailbox_of .. node)[2] > 0
    is_alive[node] = not beat or reads
  end
  return is_alive[node]
end

if switched_off and redis.call('EXISTS', switched_off) == 1 then return {'wait', 0, 0} end
if looks_for_seats then
  local seats = redis.call('SMEMBERS', empty_seats)
  if #seats > 0 then return {'seat', unpack(seats)} end
end
local mark = redis.call('GET', own_mark)
if mark then
  -- held by another bot whose match is being made: its letter will come, or the mark expire
  if string.sub(mark, 1, 5) == 'held:' then return {'wait', 0, 0} end
  return {'match', mark}
end
if looks_for_seats and by_name then
  -- an earlier connection of the name was taken for a match that has only now begun: this one takes the seat
  local seats = redis.call('SMEMBERS', matches_of_name)
  if #seats > 0 then return {'seat', unpack(seats)} end
end
if hold_for ~= '' then return {'hold', hold_for} end
if holds_back_if_playing then
  local match = redis.call('GET', newest)
  if match and redis.call('ZSCORE', deadlines, match) then return {'hold', match} end
end

redis.call('SADD', queues, queue_name)
if wanted < 0 then
  redis.call('ZADD', queue, 'NX', since_ms, ticket)
  -- a bot that waits alone needs no pairing
  if redis.call('ZCARD', queue) < 2 then return {'wait', 0, 0} end
  -- a pairing under way sees the request when it has released its lock, and keeps it until then
  local lock_ms = redis.call('PTTL', pairing_under_way)
  local ask = redis.call('SET', pairing_asked, '1', 'NX', 'PX', math.max(lock_ms, 2000))
  return {'wait', ask and lock_ms == -2 and 1 or 0, 0}
end

local strangers = by_name and wanted == 1
local others, from, seen, left_out = {}, 0, {[bot] = true}, 0
local met_at, can_wait  -- of the only other: when the bot met it, and whether it is stateless
while #others < wanted or strangers and from < 1000 do
  local page = redis.call('ZRANGE', queue, from, from + 99)
  if #page == 0 then break end
  for _, other in ipairs(page) do
    local its_bot = bot_of(other)
    if not seen[its_bot] and not is_there(other) then
      left_out = 1
    elseif strangers and not seen[its_bot] then
      local at = tonumber(redis.call('ZSCORE', met, its_bot) or '0')
      -- a stateless bot is for when nobody else waits
      local later = node_of(other) == stateless
      if not met_at or can_wait and not later or can_wait == later and at < met_at then
        others, met_at, can_wait = {other}, at, later
      end
      seen[its_bot] = true
    elseif not seen[its_bot] and #others < wanted then
      seen[its_bot] = true
      others[#others + 1] = other
    end
  end
  from = from + 100
end
if #others < wanted then
  redis.call('ZADD', queue, 'NX', since_ms, ticket)
  return {'wait', 0, left_out}
end

redis.call('ZREM', queue, ticket, unpack(others))
if redis.call('EXISTS', queue) == 0 then redis.call('SREM', queues, queue_name) end
for _, taken in ipairs({ticket, unpack(others)}) do
  redis.call('SET', mark_of .. taken, 'held:' .. ticket, 'PX', held_ms)
end
if strangers then
  local clock = redis.call('TIME')
  local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local other = bot_of(others[1])
  for _, pair in ipairs({{met, other}, {met_of .. other, bot}}) do
    redis.call('ZADD', pair[1], now_ms, pair[2])
    redis.call('ZREMRANGEBYRANK', pair[1], 0, -1001)
    redis.call('EXPIRE', pair[1], 604800)
  end
end
return {'take', unpack(others)}
