-- Takes a ticket out of its queue. KEYS[1] queue, ARGV[1] ticket. Answers 1 if it was there.
return redis.call('ZREM', KEYS[1], ARGV[1])
