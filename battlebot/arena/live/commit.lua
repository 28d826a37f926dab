-- Commits steps of several different matches, each if nobody committed before. Each succeeds or fails by itself.
-- KEYS: those named below, then for each match: its hash, its turns, the hash of the match that follows (its own if none
-- does), and the sets of live matches that change (of empty seats, names, addresses).
-- ARGV: now in microseconds, what the channel of a match's events begins with, then for each match: those named in
-- `commit`, then the turns to append, then for each set one of 'add', 'remove' or 'follow' (add the match that follows),
-- then pairs of channel and message.
-- Returns for each {1, 1 if the archive must be asked for now, else 0}, or {0, revision found or ''} if somebody was first.
local deadlines, finished, end_sequence, archive_asked = unpack(KEYS, 1, 4)
local now_us, events_of = unpack(ARGV, 1, 2)
local due = {}

-- Puts a match that is over on the finished list.
local function finish(match, id)
  -- always grows, even if Redis loses everything: never below the time
  local last = tonumber(redis.call('GET', end_sequence) or '0')
  local seq = string.format('%.0f', math.max(last + 1, tonumber(now_us)))
  redis.call('SET', end_sequence, seq)
  redis.call('HSET', match, 'seq', seq)
  redis.call('ZADD', finished, seq, id)
end

-- `key` and `at` are the indexes in KEYS and ARGV before the match's own
local function commit(key, at)
  local match, turns, following = unpack(KEYS, key + 1, key + 3)
  -- the revision expected, the token of this commit, the new document; due in ms, or '' if the match is over
  local id, revision, token, document, due_ms = unpack(ARGV, at + 1, at + 5)
  -- the match that follows, or '', and when it is due, or '' if it is over; how many turns, sets and publications
  local follows, its_document, its_due_ms, appended, sets, messages = unpack(ARGV, at + 6, at + 11)
  local found = redis.call('HMGET', match, 'rev', 'token')
  if found[1] ~= revision then
    -- a commit whose answer was lost is sent again: its token shows that it was done, even if others followed
    if found[2] and string.find(' ' .. found[2] .. ' ', ' ' .. token .. ' ', 1, true) then return {1, 1} end
    return {0, found[1] or ''}
  end
  local ask = 0
  -- the tokens of the last commits, newest first: 200 bytes, some eight tokens; one that is cut off is dropped
  local tokens = string.match(string.sub(token .. ' ' .. (found[2] or '') .. ' ', 1, 200), '^(.*) ')
  redis.call('HSET', match, 'rev', revision + 1, 'token', tokens, 'doc', document)
  local next = at + 12
  for _ = 1, appended do
    redis.call('RPUSH', turns, ARGV[next])
    next = next + 1
  end
  if due_ms ~= '' then
    due[#due + 1], due[#due + 2] = due_ms, id
  else
    finish(match, id)
    redis.call('ZREM', deadlines, id)
    -- the archive deletes this before it reads the finished list: either it finds this match, or it is asked for again
    if redis.call('SET', archive_asked, '1', 'NX', 'PX', 2000) then ask = 1 end
  end
  if follows ~= '' then
    redis.call('HSET', following, 'rev', 0, 'doc', its_document)
    if its_due_ms ~= '' then
      due[#due + 1], due[#due + 2] = its_due_ms, follows
    else
      finish(following, follows)
    end
  end
  for i = key + 4, key + 3 + sets do
    local set, change = KEYS[i], ARGV[next]
    if change == 'remove' then
      redis.call('SREM', set, id)
    else
      redis.call('SADD', set, change == 'add' and id or follows)
      redis.call('EXPIRE', set, 86400)
    end
    next = next + 1
  end
  for _ = 1, messages do
    redis.call('PUBLISH', ARGV[next], ARGV[next + 1])
    next = next + 2
  end
  redis.call('PUBLISH', events_of .. id, revision + 1)
  return {1, ask}
end

local answers, key, at, failure = {}, 4, 2, nil
while at < #ARGV do
  -- if Redis refuses one match, the call ends in an error and each match is tried again; but the others are done
  local done, answer = pcall(commit, key, at)
  answers[#answers + 1] = answer
  if not done then failure = failure or answer end
  local appended, sets, messages = unpack(ARGV, at + 9, at + 11)
  key = key + 3 + sets
  at = at + 11 + appended + sets + 2 * messages
end
if due[1] then redis.call('ZADD', deadlines, unpack(due)) end
if failure then error(failure, 0) end
return answers
