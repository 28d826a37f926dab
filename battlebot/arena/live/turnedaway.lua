-- Adds a note to lists, and drops the oldest. A script: the error of a pipeline begins with the command, and is logged.
-- KEYS: the lists; ARGV: the note, how many each list keeps, for how many seconds.
local note, most, seconds = ARGV[1], tonumber(ARGV[2]), ARGV[3]
for _, list in ipairs(KEYS) do
  redis.call('RPUSH', list, note)
  redis.call('LTRIM', list, -most, -1)
  redis.call('EXPIRE', list, seconds)
end
return 1
