--[[
Begins an add: nothing is set for a caller that knows other generations. No function, since adds are many.

Needs  known     values of the fields of meta that name the live generation and the staged one, the first two
       ARGV[1]   what names the live generation as the caller knows it, '' for none
       ARGV[2]   the same of the staged generation
Gives  isStaged  whether a staged generation takes the ids too
       or ends the script with 'STALE'
]]
--safety:add-tag
if (known[1] or '') ~= ARGV[1] then return 'STALE' end
--end
--safety:add-pending-tag
if (known[2] or '') ~= ARGV[2] then return 'STALE' end
--end
local isStaged = false
--safety:double-write
isStaged = ARGV[2] ~= ''
--end
