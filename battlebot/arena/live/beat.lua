-- Notes a node's heartbeat, and that its door was open at `opened_ms` (-1: not that the node knows). If that is more than
-- `away_ms` after it was last known to be open: that it was shut in between, until now.
-- `since` is when the nodes of the door were there again after a time in which none of them sent a heartbeat.
-- Returns 1 if the node was not among those that live, else 0.
local nodes, door, outages = unpack(KEYS)
local node, now_ms, opened_ms, away_ms, most = unpack(ARGV)

-- Notes that it was so at `at_ms`; returns when it was so last, if that is too long before.
local function gap(field, at_ms)
  local last_ms = redis.call('HGET', door, field)
  if not last_ms or at_ms - last_ms > 0 then
    redis.call('HSET', door, field, at_ms)
  end
  return last_ms and at_ms - last_ms > tonumber(away_ms) and last_ms
end

if gap('lived', now_ms) then
  redis.call('HSET', door, 'since', now_ms)
end
local shut_ms = opened_ms ~= '-1' and gap('opened', opened_ms)
if shut_ms then
  redis.call('RPUSH', outages, shut_ms .. ' ' .. now_ms)
  redis.call('LTRIM', outages, -most, -1)
end
return redis.call('ZADD', nodes, now_ms, node)
