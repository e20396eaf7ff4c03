--[[
Takes back what a process has reported that ends.

KEYS[1]  instances
KEYS[2]  its report
ARGV[1]  name of the process

Reply: 'OK'
]]
redis.pcall('HDEL', KEYS[1], ARGV[1])
redis.pcall('DEL', KEYS[2])
return 'OK'
