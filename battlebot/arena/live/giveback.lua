-- Frees tickets that a bot has taken out of their queue and does not need: their nodes are told, and put them back.
-- KEYS: the tickets' marks.
local holder = ARGV[1]
for _, mark in ipairs(KEYS) do
  if redis.call('GET', mark) == 'held:' .. holder then redis.call('DEL', mark) end
end
return 1
