-- Confirms the names that a node's connections have; takes a name again that nobody has any more (Redis lost it).
-- KEYS[1] hash of names, KEYS[2..] the live matches of each; ARGV pairs of name and what stands for the connection
-- Returns for each 1 if the connection has the name, else 0; then one of its matches, or ''.
local answer = {}
for i = 2, #KEYS do
  local name, own = ARGV[2 * i - 3], ARGV[2 * i - 2]
  local now = redis.call('HGET', KEYS[1], name)
  if not now then redis.call('HSET', KEYS[1], name, own) end
  answer[#answer + 1] = (not now or now == own) and 1 or 0
  answer[#answer + 1] = redis.call('SRANDMEMBER', KEYS[i]) or ''
end
return answer
