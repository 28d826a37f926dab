-- Commits one step of a match, if nobody committed before.
-- KEYS[1] match hash, KEYS[2] its turns, KEYS[3] deadlines, KEYS[4] finished, KEYS[5] end sequence,
-- KEYS[6] archive asked for, KEYS[7] hash of the match that follows (this one's where none does),
-- KEYS[8..] sets of matches: by empty seats, by names
-- ARGV[1] match id, ARGV[2] revision expected, ARGV[3] token of this commit, ARGV[4] document,
-- ARGV[5] due in ms, or '' where the match is over, ARGV[6] how many turns to append, ARGV[7] now in microseconds,
-- ARGV[8] id of the match that follows, or '', ARGV[9] its document, ARGV[10] when it is due (ms),
-- then the turns, then one of 'add', 'remove' or 'follow' (add the match that follows) for each set,
-- then pairs of channel and message
-- Answers {1, 1 where the archive must be asked for now}; {0, revision found or ''} where somebody was first.
local found = redis.call('HMGET', KEYS[1], 'rev', 'token')
if found[1] ~= ARGV[2] then
  -- a commit whose answer was lost is sent again: it has been done, whatever others have committed upon it since
  if found[2] and string.find(' ' .. found[2] .. ' ', ' ' .. ARGV[3] .. ' ', 1, true) then return {1, 1} end
  return {0, found[1] or ''}
end
local ask = 0
-- the tokens of the last commits, newest first; 200 bytes are some eight of them, the last one perhaps in part
local tokens = string.match(string.sub(ARGV[3] .. ' ' .. (found[2] or '') .. ' ', 1, 200), '^(.*) ')
redis.call('HSET', KEYS[1], 'rev', ARGV[2] + 1, 'token', tokens, 'doc', ARGV[4])
for i = 11, 10 + ARGV[6] do redis.call('RPUSH', KEYS[2], ARGV[i]) end
if ARGV[5] == '' then
  -- grows for ever, also over the loss of all of Redis: never below the time
  local last = tonumber(redis.call('GET', KEYS[5]) or '0')
  local seq = string.format('%.0f', math.max(last + 1, tonumber(ARGV[7])))
  redis.call('SET', KEYS[5], seq)
  redis.call('HSET', KEYS[1], 'seq', seq)
  redis.call('ZADD', KEYS[4], seq, ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  -- who archives takes this away before it looks what has ended: this match waits for it, or the next is asked for
  if redis.call('SET', KEYS[6], '1', 'NX', 'PX', 2000) then ask = 1 end
else
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
end
if ARGV[8] ~= '' then
  redis.call('HSET', KEYS[7], 'rev', 0, 'doc', ARGV[9])
  redis.call('ZADD', KEYS[3], ARGV[10], ARGV[8])
end
local next = 11 + ARGV[6]
for i = 8, #KEYS do
  if ARGV[next] == 'remove' then
    redis.call('SREM', KEYS[i], ARGV[1])
  else
    redis.call('SADD', KEYS[i], ARGV[next] == 'add' and ARGV[1] or ARGV[8])
    redis.call('EXPIRE', KEYS[i], 86400)
  end
  next = next + 1
end
for i = next, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
return {1, ask}
