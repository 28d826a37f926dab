-- Commits steps of several different matches, each if nobody committed before. Each succeeds or fails by itself.
-- KEYS[1] deadlines, KEYS[2] finished, KEYS[3] end sequence, KEYS[4] archive asked for, then for each match:
-- its hash, its turns, hash of the match that follows (its own if none does), sets of live matches (of empty seats,
-- names, addresses)
-- ARGV[1] now in microseconds, then for each match: [1] id, [2] revision expected, [3] token of this commit, [4] document,
-- [5] due in ms, or '' if the match is over, [6] id of the match that follows, or '', [7] its document, [8] when it is
-- due (ms), [9] how many turns to append, [10] how many sets there are, [11] how many publications;
-- then the turns, then one of 'add', 'remove' or 'follow' (add the match that follows) for each set,
-- then pairs of channel and message
-- Returns for each {1, 1 if the archive must be asked for now, else 0}, or {0, revision found or ''} if somebody was first.
local due = {}

-- `key` and `at` are the indexes in KEYS and ARGV before the match's own
local function commit(key, at)
  local match, id, token = KEYS[key + 1], ARGV[at + 1], ARGV[at + 3]
  local found = redis.call('HMGET', match, 'rev', 'token')
  if found[1] ~= ARGV[at + 2] then
    -- a commit whose answer was lost is sent again: its token shows that it was done, even if others followed
    if found[2] and string.find(' ' .. found[2] .. ' ', ' ' .. token .. ' ', 1, true) then return {1, 1} end
    return {0, found[1] or ''}
  end
  local ask = 0
  -- the tokens of the last commits, newest first: 200 bytes, some eight tokens; one that is cut off is dropped
  local tokens = string.match(string.sub(token .. ' ' .. (found[2] or '') .. ' ', 1, 200), '^(.*) ')
  redis.call('HSET', match, 'rev', ARGV[at + 2] + 1, 'token', tokens, 'doc', ARGV[at + 4])
  if ARGV[at + 5] ~= '' then due[#due + 1], due[#due + 2] = ARGV[at + 5], id end
  local follows, next = ARGV[at + 6], at + 12
  for _ = 1, ARGV[at + 9] do
    redis.call('RPUSH', KEYS[key + 2], ARGV[next])
    next = next + 1
  end
  if ARGV[at + 5] == '' then
    -- always grows, even if Redis loses everything: never below the time
    local last = tonumber(redis.call('GET', KEYS[3]) or '0')
    local seq = string.format('%.0f', math.max(last + 1, tonumber(ARGV[1])))
    redis.call('SET', KEYS[3], seq)
    redis.call('HSET', match, 'seq', seq)
    redis.call('ZADD', KEYS[2], seq, id)
    redis.call('ZREM', KEYS[1], id)
    -- the archive deletes this before it reads the finished list: either it finds this match, or it is asked for again
    if redis.call('SET', KEYS[4], '1', 'NX', 'PX', 2000) then ask = 1 end
  end
  if follows ~= '' then
    redis.call('HSET', KEYS[key + 3], 'rev', 0, 'doc', ARGV[at + 7])
    due[#due + 1], due[#due + 2] = ARGV[at + 8], follows
  end
  for i = key + 4, key + 3 + ARGV[at + 10] do
    if ARGV[next] == 'remove' then
      redis.call('SREM', KEYS[i], id)
    else
      redis.call('SADD', KEYS[i], ARGV[next] == 'add' and id or follows)
      redis.call('EXPIRE', KEYS[i], 86400)
    end
    next = next + 1
  end
  for _ = 1, ARGV[at + 11] do
    redis.call('PUBLISH', ARGV[next], ARGV[next + 1])
    next = next + 2
  end
  return {1, ask}
end

local answers, key, at, failure = {}, 4, 1, nil
while at < #ARGV do
  -- if Redis refuses one match, the call ends in an error and each match is tried again; but the others are done
  local done, answer = pcall(commit, key, at)
  answers[#answers + 1] = answer
  if not done then failure = failure or answer end
  key = key + 3 + ARGV[at + 10]
  at = at + 11 + ARGV[at + 9] + ARGV[at + 10] + 2 * ARGV[at + 11]
end
if due[1] then redis.call('ZADD', KEYS[1], unpack(due)) end
if failure then error(failure, 0) end
return answers
