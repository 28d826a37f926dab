-- Notes a node's heartbeat and, if no node had sent one for `away_ms`, that the server was away since the last.
-- Returns 1 if the node was not among those that live, else 0.
local nodes, newest, outages = unpack(KEYS)
local node, now_ms, away_ms, most = unpack(ARGV)
local last_ms = redis.call('GET', newest)
if last_ms and now_ms - last_ms > tonumber(away_ms) then
  redis.call('RPUSH', outages, last_ms .. ' ' .. now_ms)
  redis.call('LTRIM', outages, -most, -1)
end
if not last_ms or now_ms - last_ms > 0 then
  redis.call('SET', newest, now_ms)
end
return redis.call('ZADD', nodes, now_ms, node)
