-- Renews locks that are still held, and the requests for their work, so that these last as long.
-- KEYS: each lock and its request; ARGV: for how many ms, then each lock's token.
local lasts_ms = ARGV[1]
for i = 2, #ARGV do
  local lock, asked = KEYS[2 * i - 3], KEYS[2 * i - 2]
  if redis.call('GET', lock) == ARGV[i] then
    redis.call('PEXPIRE', lock, lasts_ms)
    redis.call('PEXPIRE', asked, lasts_ms)
  end
end
return 1
