-- Confirms which of a node's bots wait in a queue: Redis may have lost tickets, or a letter that began a match.
-- KEYS: the queue, the set of queues, then each ticket's mark and its bot's empty seats; ARGV: the queue's name, then
-- each ticket and since when it waits (ms).
-- Returns for each ticket the match begun for it, or '', then 1 if its bot has an empty seat, then 1 if the ticket had
-- to be put back.
local queue, queues, queue_name = KEYS[1], KEYS[2], ARGV[1]
local answer = {}
for i = 2, #ARGV, 2 do
  local ticket, since_ms, empty_seats = ARGV[i], ARGV[i + 1], KEYS[i + 2]
  local mark = redis.call('GET', KEYS[i + 1])
  local held = mark and string.sub(mark, 1, 5) == 'held:'
  local put_back = mark and 0 or redis.call('ZADD', queue, 'NX', since_ms, ticket)
  answer[#answer + 1] = mark and not held and mark or ''
  answer[#answer + 1] = held and 0 or redis.call('EXISTS', empty_seats)
  answer[#answer + 1] = put_back
end
-- if a match has begun for each of them, nobody waits there any more
if redis.call('EXISTS', queue) == 1 then redis.call('SADD', queues, queue_name) end
return answer
