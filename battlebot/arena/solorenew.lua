-- Renews locks that are still held. KEYS the locks, ARGV[1] ms that they last from now, then one token per lock.
for i, lock in ipairs(KEYS) do
  if redis.call('GET', lock) == ARGV[i + 1] then redis.call('PEXPIRE', lock, ARGV[1]) end
end
return 1
