-- Frees tickets that a bot has taken out of their queue and does not need: their nodes are told, and put them back.
-- KEYS the tickets' marks, ARGV[1] the ticket that holds them
for _, mark in ipairs(KEYS) do
  if redis.call('GET', mark) == 'held:' .. ARGV[1] then redis.call('DEL', mark) end
end
return 1
