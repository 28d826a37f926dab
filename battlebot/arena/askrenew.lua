-- Renews a worker's leases on asking the stateless bots of matches.
-- KEYS[1] sorted set of leases, then the leases; ARGV[1] ms, then for each lease its token and its match's id
-- Returns for each 1 if the lease was still held, else 0.
local clock = redis.call('TIME')
local until_ms = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[1]
local answer = {}
for i = 2, #KEYS do
  local held = redis.call('GET', KEYS[i]) == ARGV[2 * i - 2]
  if held then
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
    redis.call('ZADD', KEYS[1], until_ms, ARGV[2 * i - 1])
  end
  answer[#answer + 1] = held and 1 or 0
end
return answer
