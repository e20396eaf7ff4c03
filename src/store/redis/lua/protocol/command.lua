--[[
Runs a command that the client does not know: on a cluster it finds the node of a script by its keys, and of such a command not
at all.

KEYS[1]   the key of the command
ARGV[1]   the command
ARGV[2..] its arguments after the key

Reply: that of the command
]]
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
