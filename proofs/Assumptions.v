(* What the theorems rest on, printed for .ci/proofs: first what the mean value
   theorem of Coq's own real numbers rests on, which is all that is allowed. *)

From Coq Require Import Reals.
From Proofs Require Import Laws Filter Fold Normal Probit.

Print Assumptions MVT.

Print Assumptions star_dominated.
Print Assumptions prod_dominated.
Print Assumptions prods_dominated.
Print Assumptions residual_filter.
Print Assumptions price_holds.
Print Assumptions fold.
Print Assumptions kappa_stable.
Print Assumptions delta_of_I.
Print Assumptions transforms_multiply.
Print Assumptions telescoping.
Print Assumptions threshold.
Print Assumptions shift_dominated.
Print Assumptions shift_dominated_back.
Print Assumptions Phi_derive.
Print Assumptions Phi_reaches.
