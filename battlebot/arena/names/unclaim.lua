-- Frees names. ARGV: each name and what stands for a connection; it is freed if that connection still has it.
local names = KEYS[1]
for i = 1, #ARGV, 2 do
  if redis.call('HGET', names, ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', names, ARGV[i]) end
end
return #ARGV / 2
