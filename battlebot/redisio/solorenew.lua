-- Renews locks that are still held. KEYS: the locks; ARGV: for how many ms, then each lock's token.
local lasts_ms = ARGV[1]
for i, lock in ipairs(KEYS) do
  local token = ARGV[i + 1]
  if redis.call('GET', lock) == token then redis.call('PEXPIRE', lock, lasts_ms) end
end
return 1
