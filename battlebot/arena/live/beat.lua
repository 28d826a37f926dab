-- Notes a node's heartbeat. If it `opens` its door and no node had done so for `away_ms`: that the door was shut since.
-- `since` is when the nodes of the door were there again after a time in which none of them sent a heartbeat.
-- Returns 1 if the node was not among those that live, else 0.
local nodes, door, outages = unpack(KEYS)
local node, now_ms, away_ms, opens, most = unpack(ARGV)

-- Notes that it is so now; returns when it was so last, if that is too long ago.
local function gap(field)
  local last_ms = redis.call('HGET', door, field)
  if not last_ms or now_ms - last_ms > 0 then
    redis.call('HSET', door, field, now_ms)
  end
  return last_ms and now_ms - last_ms > tonumber(away_ms) and last_ms
end

if gap('lived') then
  redis.call('HSET', door, 'since', now_ms)
end
local shut_ms = opens == '1' and gap('opened')
if shut_ms then
  redis.call('RPUSH', outages, shut_ms .. ' ' .. now_ms)
  redis.call('LTRIM', outages, -most, -1)
end
return redis.call('ZADD', nodes, now_ms, node)
