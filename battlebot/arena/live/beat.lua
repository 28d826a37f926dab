-- Notes a node's heartbeat, and that its door was open at `opened_ms` (-1: not that the node knows). If nothing was known
-- of that for more than `gap_ms`: that it may have been shut from `shut` to `reopened`; for more than `away_ms`: that it
-- was shut meanwhile, until now. If nothing was heard of the node itself for more than `gap_ms`: that a node was silent
-- from `silent` to `heard`.
-- `since` is when the nodes of the door were there again after a time in which none of them sent a heartbeat.
-- Returns 1 if the node was not among those that live, else 0. Without a node ('') none is noted: what it says of the
-- door is all.
local nodes, door, outages = unpack(KEYS)
local node, now_ms, opened_ms, gap_ms, away_ms, most = unpack(ARGV)

-- Notes that it was so at `at_ms`; returns for how long that had not been known, and since when.
local function note(field, at_ms)
  local last_ms = redis.call('HGET', door, field) or at_ms
  if at_ms - last_ms >= 0 then
    redis.call('HSET', door, field, at_ms)
  end
  return at_ms - last_ms, last_ms
end

if note('lived', now_ms) > tonumber(away_ms) then
  redis.call('HSET', door, 'since', now_ms)
end
if opened_ms ~= '-1' then
  local unknown_ms, shut_ms = note('opened', opened_ms)
  if unknown_ms > tonumber(gap_ms) then
    redis.call('HSET', door, 'shut', shut_ms, 'reopened', opened_ms)
  end
  if unknown_ms > tonumber(away_ms) then
    redis.call('RPUSH', outages, shut_ms .. ' ' .. now_ms)
    redis.call('LTRIM', outages, -most, -1)
  end
end
if node == '' then return 0 end
local beat_ms = tonumber(redis.call('ZSCORE', nodes, node) or 0)
if beat_ms > 0 and now_ms - beat_ms > tonumber(gap_ms) then
  redis.call('HSET', door, 'silent', beat_ms, 'heard', now_ms)
end
return redis.call('ZADD', nodes, now_ms, node)
