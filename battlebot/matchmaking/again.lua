-- Confirms which of a node's bots wait in a queue: Redis may have lost tickets, or a letter that began a match.
-- KEYS[1] queue, KEYS[2] set of queues, then for each ticket its mark and its bot's empty seats
-- ARGV[1] queue's name, then for each ticket the ticket and since when it waits (ms)
-- Returns for each ticket the match begun for it, or '', then 1 if its bot has an empty seat, then 1 if the ticket had
-- to be put back.
local answer = {}
redis.call('SADD', KEYS[2], ARGV[1])
for i = 2, #ARGV, 2 do
  local mark = redis.call('GET', KEYS[i + 1])
  local held = mark and string.sub(mark, 1, 5) == 'held:'
  local put_back = mark and 0 or redis.call('ZADD', KEYS[1], 'NX', ARGV[i + 1], ARGV[i])
  answer[#answer + 1] = mark and not held and mark or ''
  answer[#answer + 1] = held and 0 or redis.call('EXISTS', KEYS[i + 2])
  answer[#answer + 1] = put_back
end
return answer
