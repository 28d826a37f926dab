-- Renews a worker's leases on asking the stateless bots of matches.
-- KEYS: the sorted set of leases, then each lease; ARGV: for how many ms, then each lease's token and match id.
-- Returns for each 1 if the lease was still held, else 0.
local leases, lasts_ms = KEYS[1], ARGV[1]
local clock = redis.call('TIME')
local until_ms = clock[1] * 1000 + math.floor(clock[2] / 1000) + lasts_ms
local answer = {}
for i = 2, #KEYS do
  local lease, token, match_id = KEYS[i], ARGV[2 * i - 2], ARGV[2 * i - 1]
  local held = redis.call('GET', lease) == token
  if held then
    redis.call('PEXPIRE', lease, lasts_ms)
    redis.call('ZADD', leases, until_ms, match_id)
  end
  answer[#answer + 1] = held and 1 or 0
end
return answer
