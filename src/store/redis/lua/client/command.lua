--[[
Runs a command that the client does not know. On a cluster the client finds the node of a script by its keys, and cannot find that of an
unknown command.

KEYS[1]   the key of the command
ARGV[1]   the command
ARGV[2..] its arguments after the key

Reply: that of the command
]]
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
