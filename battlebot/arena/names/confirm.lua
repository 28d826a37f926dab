-- Confirms the names that a node's connections have; takes a name again that nobody has any more (Redis lost it).
-- KEYS: the hash of names, then each name's live matches; ARGV: each name and what stands for its connection.
-- Returns for each 1 if the connection has the name, else 0; then one of its matches, or ''.
local names = KEYS[1]
local answer = {}
for i = 2, #KEYS do
  local name, own = ARGV[2 * i - 3], ARGV[2 * i - 2]
  local now = redis.call('HGET', names, name)
  if not now then redis.call('HSET', names, name, own) end
  answer[#answer + 1] = (not now or now == own) and 1 or 0
  answer[#answer + 1] = redis.call('SRANDMEMBER', KEYS[i]) or ''
end
return answer
