-- A bot begins to wait, unless a seat or a match is there for it.
-- KEYS[1] queue, KEYS[2] set of queues, KEYS[3] the bot's empty seats, KEYS[4] the ticket's mark,
-- KEYS[5] pairing asked for
-- ARGV[1] ticket, ARGV[2] waiting since (ms), ARGV[3] bot, ARGV[4] queue's name, ARGV[5] how many others are wanted,
-- ARGV[6] 1 to look for empty seats
-- Answers {'seat', match...}, {'match', match} or {'wait', 1 where pairing must be asked for now, ticket...}.
if ARGV[6] == '1' then
  local seats = redis.call('SMEMBERS', KEYS[3])
  if #seats > 0 then return {'seat', unpack(seats)} end
end
local match = redis.call('GET', KEYS[4])
if match then return {'match', match} end
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[4])
local others, wanted = {}, tonumber(ARGV[5])
if wanted == 0 then
  local ask = redis.call('SET', KEYS[5], '1', 'NX', 'PX', 2000)
  return {'wait', ask and 1 or 0}
end
local from, seen = 0, {[ARGV[3]] = true}
while #others < wanted do
  local page = redis.call('ZRANGE', KEYS[1], from, from + 99)
  if #page == 0 then break end
  for _, other in ipairs(page) do
    local bot = string.match(other, '([^/]+)$')
    if not seen[bot] and #others < wanted then
      seen[bot] = true
      others[#others + 1] = other
    end
  end
  from = from + 100
end
return {'wait', 0, unpack(others)}
